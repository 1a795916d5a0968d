import { Readable } from 'node:stream';

type Fields = Record<string, unknown>;

/**
 * A JSON file with these fields, as a stream: a field that is an `AsyncIterable` becomes an array, whose elements are
 * written as they are read. A field that is undefined is left out.
 */
export const jsonStream = (fields: Fields): Readable => Readable.from(pieces(fields));

async function* pieces(fields: Fields): AsyncGenerator<string> {
  let before = '{\n';
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}: `;
    before = ',\n';
    if (isAsyncIterable(value)) yield* elements(value);
    else yield JSON.stringify(value);
  }
  yield `${before === '{\n' ? before : '\n'}}\n`;
}

async function* elements(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  let before = '[\n';
  for await (const value of values) {
    yield before + JSON.stringify(value);
    before = ',\n';
  }
  yield before === '[\n' ? '[]' : '\n]';
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
