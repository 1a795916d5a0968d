export { FieldChanges } from './FieldChanges.tsx';
export { Summary } from './Summary.tsx';
export { RecordHistory } from './RecordHistory.tsx';
export { RecordHistoryLink } from './RecordHistoryLink.tsx';
