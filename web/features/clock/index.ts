export { ConfirmClockButton } from './ConfirmClockButton.tsx';
