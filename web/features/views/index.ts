export { openViewOf, Views } from './Views.tsx';
