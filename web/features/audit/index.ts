export { FieldChanges } from './FieldChanges.tsx';
export { RecordHistoryLink } from './RecordHistoryLink.tsx';
