export { type Counted, addFigures, clearFigures, figuresOf } from './day-figures.ts';
