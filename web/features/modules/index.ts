export { ModulePicker, ModulesByCategory } from './ModulePicker.tsx';
