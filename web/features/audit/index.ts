export { FieldChanges } from './lazy.ts';
export { Summary } from './Summary.tsx';
export { RecordHistory } from './RecordHistory.tsx';
export { RecordHistoryLink } from './RecordHistoryLink.tsx';
