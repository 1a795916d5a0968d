import { createHash } from 'node:crypto';
import { chunkedUpload, compareRates, download, fileOf, put } from '../binaries.ts';
import { startNginx } from '../nginx.ts';
import { dataOf } from '../stage.ts';
import type { Comparison, Peer } from './peer.ts';

const fileMb = 256;

const tusServer = `
  import { FileStore } from '@tus/file-store';
  import { Server } from '@tus/server';
  const server = new Server({ path: '/files', datastore: new FileStore({ directory: process.env.FILES }) });
  server.listen({ host: '127.0.0.1', port: Number(process.env.PORT) }, () => console.log('ready'));
`;

/** Uploads of one file; ours and the bare server also hash it and wait until it is on disk. */
export const tus: Peer = {
  packages: ['@tus/server', '@tus/file-store'],
  async bench({ stage, home, start }) {
    const file = fileOf(fileMb);
    const sha512 = createHash('sha512').update(file).digest('base64');
    const url = await start(tusServer, { FILES: `${home}/files` });
    const upload = async () => {
      const headers = { 'tus-resumable': '1.0.0' };
      const made = await fetch(`${url}/files`, {
        method: 'POST',
        headers: { ...headers, 'upload-length': String(file.length) },
      });
      const sent = await fetch(made.headers.get('location')!, {
        method: 'PATCH',
        headers: { ...headers, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' },
        body: file,
      });
      if (sent.headers.get('upload-offset') !== String(file.length)) throw new Error(await sent.text());
    };
    const rates = await compareRates(fileMb, {
      bare: () => put(`${stage.bare}/put`, file),
      ours: (round) => chunkedUpload(stage.ours, stage.staff, file, sha512, versionOf(round)),
      theirs: upload,
    });
    return [{ job: `upload ${fileMb} MB (MB/s)`, ...rates }];
  },
};

const versionOf = (round: number) => `8.0.${round}`;

/** Downloads of one file; there is nothing more bare than nginx. */
export const nginx: Peer = {
  packages: [],
  async bench({ stage, home }): Promise<Comparison[]> {
    const file = fileOf(fileMb);
    const sha512 = createHash('sha512').update(file).digest('base64');
    const version = '8.1.0';
    await chunkedUpload(stage.ours, stage.staff, file, sha512, version);
    const headers = stage.staff;
    const list = `${stage.ours}/api/v1/updates/admin/releases?search=${version}`;
    const [release] = await dataOf<{ fileUrl: string }[]>(list, headers);
    const theirs = await startNginx(home, file);
    if (!theirs) throw new Error('nginx is not installed');
    const plain = () => download(theirs.url, {}, file.length);
    try {
      const rates = await compareRates(fileMb, {
        bare: plain,
        ours: () => download(new URL(release!.fileUrl, stage.ours).href, headers, file.length),
        theirs: plain,
      });
      return [{ job: `download ${fileMb} MB (MB/s)`, ...rates }];
    } finally {
      await theirs.stop();
    }
  },
};
