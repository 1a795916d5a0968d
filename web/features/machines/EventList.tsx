import type { UpdateEvent, UpdateEventType } from '../../../contract/machines.ts';
import { ExactTime } from '../../ui/RelativeTime.tsx';
import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconCircleCheck,
  IconDownload,
  IconPackage,
  IconPackageExport,
  IconRefresh,
  type Icon,
} from '../../ui/icons.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { eventSentence } from './event-sentence.ts';
import { Sentence } from './Sentence.tsx';
import classes from './machines.module.css';

export const eventIcons: Record<UpdateEventType, Icon> = {
  check: IconRefresh,
  download_start: IconDownload,
  download_complete: IconPackage,
  download_error: IconAlertTriangle,
  install_start: IconPackageExport,
  install_complete: IconCircleCheck,
  install_error: IconAlertTriangle,
  rollback: IconArrowBackUp,
};

/** Events of the machine, the latest first; `total`: as many as there ever were. */
export function EventList({ events, total }: { events: UpdateEvent[]; total: number }) {
  if (events.length === 0) {
    return (
      <div className="panel">
        <EmptyState title="No update events">
          {total === 0
            ? 'This machine has reported nothing yet.'
            : 'What this machine reported is no longer kept.'}
        </EmptyState>
      </div>
    );
  }
  return (
    <ol className={`panel plain-list ${classes.events}`} aria-label="Update events" tabIndex={0}>
      {events.map((event) => (
        <Event key={event.id} event={event} />
      ))}
    </ol>
  );
}

function Event({ event }: { event: UpdateEvent }) {
  const Icon = event.success ? eventIcons[event.eventType] : IconAlertTriangle;
  return (
    <li data-state={stateOf(event)}>
      <Icon size={16} stroke={1.5} />
      <span className={classes.sentence}>
        <Sentence parts={eventSentence(event)} of={event} />
      </span>
      <span className={classes.when}>
        <ExactTime value={event.timestamp} />
      </span>
    </li>
  );
}

function stateOf({ success, eventType }: UpdateEvent) {
  if (!success || eventType.endsWith('_error')) return 'failed';
  if (eventType === 'rollback') return 'warning';
  return eventType.endsWith('_complete') ? 'done' : undefined;
}
