export { RecordHistoryLink } from './RecordHistoryLink.tsx';
