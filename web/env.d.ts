/// <reference types="vite/client" />

/** Set by `define` in vite.config.ts. */
declare const LANYARD_VERSION: string;
declare const LANYARD_BUILD: string;
declare const LANYARD_COMMIT: string;

declare module '@fontsource-variable/inter';
declare module '@fontsource-variable/jetbrains-mono';
