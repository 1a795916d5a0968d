export { NewReleaseButton } from './NewReleaseButton.tsx';
