export { FieldChanges } from './lazy.ts';
export { OwnSummary, Summary } from './Summary.tsx';
export { RecordHistory } from './RecordHistory.tsx';
export { RecordHistoryLink } from './RecordHistoryLink.tsx';
