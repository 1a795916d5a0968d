import '@mantine/notifications/styles.layer.css';
import { Notifications } from '@mantine/notifications';
import { useIsDialogOpen } from './open-dialogs.ts';
import { toastDuration } from './toast.tsx';
import classes from './Toasts.module.css';

/**
 * At the bottom of the screen. While a dialog is open, one toast at the top, beside the Close button: the bottom of a
 * tall dialog has its actions.
 */
export default function Toasts() {
  const isBelow = !useIsDialogOpen();
  return (
    <Notifications
      withinPortal={false}
      position={isBelow ? 'bottom-center' : 'top-center'}
      className={classes.toasts ?? ''}
      autoClose={toastDuration}
      limit={isBelow ? 4 : 1}
    />
  );
}
