export { FieldChanges } from './FieldChanges.tsx';
export { RecordHistory } from './RecordHistory.tsx';
export { RecordHistoryLink } from './RecordHistoryLink.tsx';
