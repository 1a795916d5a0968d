export { modulesQuery } from './queries.ts';
export { ModulePicker, ModulesByCategory } from './ModulePicker.tsx';
