import { Button } from '@mantine/core';
import { Suspense } from 'react';
import { extensions } from '../../../contract/license-term.ts';
import type { TodayKind } from '../../../contract/today-needs.ts';
import type { TodayLine } from '../../../contract/today.ts';
import { useAuth } from '../../session.tsx';
import {
  IconAlertTriangle,
  IconArchive,
  IconBan,
  IconClockExclamation,
  IconClockPause,
  IconDeviceDesktopOff,
  IconFileAlert,
  IconHourglassLow,
  IconKey,
  IconLinkOff,
  IconLockExclamation,
  IconPlayerPause,
  IconPlayerTrackNext,
  IconServerBolt,
  IconUserCheck,
  IconUsersGroup,
  type Icon,
} from '../../ui/icons.tsx';
import { ScreenButton, ScreenLink } from '../../ui/ScreenLink.tsx';
import { toneColors } from '../../ui/StatusBadge.tsx';
import { ConfirmClockButton } from '../clock/index.ts';
import { ExtendButton } from '../licenses/index.ts';
import { isToExtend, shownLine } from './today-lines.ts';
import { classNames } from '../../ui/class-names.ts';
import classes from './today.module.css';

const icons: Record<TodayKind, Icon> = {
  storageDown: IconServerBolt,
  chainBroken: IconLinkOff,
  chainNotKept: IconLinkOff,
  clockJumped: IconClockPause,
  diskFull: IconServerBolt,
  releasesDamaged: IconFileAlert,
  rolloutsFailing: IconBan,
  approvalsWaiting: IconUserCheck,
  rolloutsClaimed: IconAlertTriangle,
  rolloutsReady: IconPlayerTrackNext,
  rolloutsPaused: IconPlayerPause,
  licensesEnded: IconClockExclamation,
  licensesFull: IconUsersGroup,
  licensesEnding: IconHourglassLow,
  offlineEnding: IconDeviceDesktopOff,
  keysLimited: IconKey,
  keysRefused: IconKey,
  keysEnding: IconKey,
  signInsRefused: IconLockExclamation,
  trashEnding: IconArchive,
};

/** One line: what needs the user, linked to the list, and the next step. */
export function Line({ line, now }: { line: TodayLine; now: Date }) {
  const { tone, title, about, list, next } = shownLine(line, now);
  const { can } = useAuth();
  const named = classNames({ className: classes.title });
  const LineIcon = icons[line.kind];
  return (
    <li className={classes.line} data-kind={line.kind}>
      <span className={classes.icon} style={toneColors(tone)} aria-hidden>
        <LineIcon size={17} stroke={1.6} />
      </span>
      <div className={classes.text}>
        <ScreenLink unstyled {...named} {...list} instead={<span {...named}>{title}</span>}>
          {title}
        </ScreenLink>
        {about && (
          <p className={classes.about} data-whole={line.kind === 'storageDown' || undefined}>
            {about}
          </p>
        )}
      </div>
      {line.next?.at && isToExtend(line) && can.updateLicenses ? (
        <Suspense
          fallback={
            // as large as what it stands for, so that no line moves
            <Button variant="default" size="compact-sm" className={classes.next} disabled>
              {extensions[1].label}
            </Button>
          }
        >
          <ExtendButton
            licenseId={line.next.id}
            name={line.next.name}
            endsAt={line.next.at}
            className={classes.next}
          />
        </Suspense>
      ) : line.kind === 'clockJumped' ? (
        <ConfirmClockButton className={classes.next} />
      ) : (
        next && (
          <ScreenButton
            size="compact-sm"
            aria-label={`${next.label}: ${line.next?.name ?? title}`}
            {...classNames({ className: classes.next })}
            {...next}
          >
            {next.label}
          </ScreenButton>
        )
      )}
    </li>
  );
}
