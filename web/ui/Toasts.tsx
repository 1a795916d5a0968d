import '@mantine/notifications/styles.layer.css';
import { Notifications } from '@mantine/notifications';
import { useIsDialogOpen } from './open-dialogs.ts';
import { toastDuration } from './toast.tsx';
import classes from './Toasts.module.css';

/**
 * At the bottom of the screen. While a dialog is open, one toast at the top, beside the dialog where there is space, else
 * beside its Close button: the bottom of a tall dialog has its actions.
 */
export default function Toasts() {
  const isOverDialog = useIsDialogOpen();
  return (
    <Notifications
      withinPortal={false}
      // By CSS instead of `position`: the library shows a toast twice while it changes its position.
      position="bottom-center"
      {...(isOverDialog && { className: classes.overDialog ?? '' })}
      autoClose={toastDuration}
      limit={isOverDialog ? 1 : 4}
    />
  );
}
