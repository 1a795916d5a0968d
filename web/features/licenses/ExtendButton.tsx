import { Button } from '@mantine/core';
import { extensions } from '../../../contract/license-term.ts';
import { messageOf } from '../../api-error.ts';
import { licensePath } from '../../paths.ts';
import { queryClient } from '../../query-client.ts';
import { aboutLicense } from '../../toast-subjects.ts';
import { pressOnce } from '../../ui/press-once.ts';
import { utcDate } from '../../ui/time.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { licenseQuery } from './queries.ts';
import { useExtend } from './use-extend.ts';

const { label, term } = extensions[1];

/**
 * Extends a license by a year where another screen names it, with an Undo. `endsAt` is the end that the screen shows: a
 * license that ends at another time by now is left alone.
 */
export default function ExtendButton(props: {
  licenseId: string;
  name: string;
  endsAt: string;
  className: string | undefined;
}) {
  const { licenseId, name, endsAt, className } = props;
  const { extend, isPending } = useExtend();
  const begin = useChange({
    // the button may stand for the next license by the time this one is loaded
    mutationFn: (pressed: { licenseId: string; name: string; endsAt: string }) =>
      queryClient.fetchQuery(licenseQuery(pressed.licenseId)),
    onSuccess: (license, pressed) => {
      if (license.validUntil === pressed.endsAt) return extend(license, term);
      void toast({
        message: `Not extended: it ends on ${utcDate(license.validUntil)} by now.`,
        subject: aboutLicense(license),
        tone: 'red',
      });
    },
    onError: (error, pressed) =>
      void toast({
        message: `Not extended: ${messageOf(error)}`,
        subject: { name: pressed.name, to: licensePath(pressed.licenseId) },
        tone: 'red',
      }),
  });
  return (
    <Button
      variant="default"
      size="compact-sm"
      className={className}
      aria-label={`${label}: ${name}`}
      data-hint="Extend by a year"
      loading={begin.isPending || isPending}
      // the next license takes the place of one that is extended: neither a double click nor a held key may reach it
      {...pressOnce(() => begin.mutate({ licenseId, name, endsAt }))}
    >
      {label}
    </Button>
  );
}
