export { createModuleNames, listModules, unknownModules } from './modules.ts';
