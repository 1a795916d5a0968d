import '@mantine/notifications/styles.layer.css';
import { Notifications } from '@mantine/notifications';
import { toastDuration } from './toast.tsx';

export default function Toasts() {
  return <Notifications withinPortal={false} position="bottom-center" autoClose={toastDuration} limit={4} />;
}
