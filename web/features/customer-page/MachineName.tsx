import { RecordLink } from '../../shell/RecordLink.tsx';
import classes from './customer-page.module.css';

type Named = { hostname: string | null; machineId: string | null; displayId: string | null };

/** The host name of a machine, else its id; linked once it has asked for updates, since it has a page then. */
export function MachineName({ machine: { hostname, machineId, displayId } }: { machine: Named }) {
  const name = hostname ?? machineId ?? 'Unknown';
  const look = hostname ? classes.name : `mono ${classes.name}`;
  const title = machineId ?? name;
  if (!displayId)
    return (
      <span className={look} title={title}>
        {name}
      </span>
    );
  return (
    <RecordLink kind="machine" id={displayId} className={look} title={title}>
      {name}
    </RecordLink>
  );
}
