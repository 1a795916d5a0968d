import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

/** The only accent color, for primary, active and focused elements. */
const ink: MantineColorsTuple = [
  '#eef1fa',
  '#dce2f4',
  '#b9c5e9',
  '#94a6dd',
  '#738ad2',
  '#556fc4',
  '#3d59b2',
  '#334b98',
  '#2a3e7e',
  '#1f2f61',
];

/** Cooler than Mantine's grays, to match the page color. */
const dark: MantineColorsTuple = [
  '#dcdee4',
  '#b8bbc5',
  '#9da1ad',
  '#868a97',
  '#34363f',
  '#282a31',
  '#1d1e23',
  '#16171b',
  '#101114',
  '#0b0c0e',
];

const red: MantineColorsTuple = [
  '#fff0f0',
  '#ffdedd',
  '#fabcba',
  '#f49693',
  '#ea6c68',
  '#dd4a45',
  '#cf322d',
  '#bd2621',
  '#9f1d19',
  '#7d1512',
];

const forgetFile = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
  currentTarget.value = '';
};

const smallControls = ['Button', 'TextInput', 'Textarea', 'Checkbox', 'SegmentedControl', 'Switch'];

/**
 * The list itself scrolls, because Mantine's scroll area cannot be reached by keyboard. It is next to its field in the
 * document, so that it is in the same dialog or landmark, and therefore above the dialog's header, with z-index 1000. It is
 * there only while it is open: placing each closed list costs a style calculation of the whole page.
 */
const accessibleOptions = {
  withScrollArea: false,
  styles: { options: { maxHeight: 240, overflowY: 'auto' } },
  comboboxProps: { withinPortal: false, floatingStrategy: 'fixed', zIndex: 1001, keepMounted: false },
};

const dialogProps = {
  closeButtonProps: { 'aria-label': 'Close' },
  // A `<header>` in a dialog counts as a second banner of the page.
  attributes: { header: { role: 'none' } },
};

/** By name instead of `Modal.extend`, which would add all these components to the bundle of the sign-in screen. */
const components = {
  ...Object.fromEntries(smallControls.map((name) => [name, { defaultProps: { size: 'xs' } }])),
  Select: { defaultProps: { size: 'xs', ...accessibleOptions } },
  // What floats is never higher than its side of the window, and scrolls (base.css): also menus, calendars and choices.
  Popover: { defaultProps: { middlewares: { size: true, flip: { fallbackStrategy: 'bestFit' } } } },
  PasswordInput: {
    defaultProps: {
      size: 'xs',
      maxLength: 1024,
      visibilityToggleButtonProps: { 'aria-label': 'Show password', tabIndex: 0 },
    },
  },
  // without its last file, so that the same file may be chosen again after it was corrected
  FileButton: { defaultProps: { inputProps: { onClick: forgetFile } } },
  Text: { defaultProps: { size: 'sm' } },
  Anchor: { defaultProps: { size: 'sm' } },
  Input: { vars: () => ({ wrapper: { '--input-fz': 'var(--ui-field-size)' } }) },
  Modal: {
    defaultProps: {
      ...dialogProps,
      size: 440,
      radius: 8,
      // Centered, its buttons would move under the pointer when its content arrives.
      centered: false,
      yOffset: '8dvh',
      shadow: 'xl',
      overlayProps: { backgroundOpacity: 0.4, blur: 0 },
      transitionProps: { transition: 'fade', duration: 120 },
    },
  },
  Drawer: {
    defaultProps: {
      ...dialogProps,
      overlayProps: { backgroundOpacity: 0.25, blur: 0 },
      transitionProps: { duration: 120 },
    },
  },
  Tooltip: {
    defaultProps: {
      openDelay: 300,
      withinPortal: false,
      floatingStrategy: 'fixed',
      transitionProps: { duration: 80 },
      events: { hover: true, focus: true, touch: false },
    },
  },
};

export const theme = createTheme({
  primaryColor: 'ink',
  primaryShade: 6,
  colors: { ink, dark, red },
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: "'JetBrains Mono Variable', ui-monospace, monospace",
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  defaultRadius: 4,
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '1.25rem', lineHeight: '1.75rem' } } },
  components,
});

/*
 * Colors in addition to Mantine's. Text colors have a contrast of at least 4.5:1 on the card, the page and their own
 * background; Mantine's error red, muted gray and orange do not. The solid ones, which fill bars and lines, differ for readers
 * who do not see red and green apart as well.
 */
const lightColors = {
  '--ui-page': '#fbfbfc',
  '--ui-line': '#e6e8ec',
  '--ui-line-strong': '#d3d6dd',
  '--ui-field-line': '#868b97',
  '--ui-header': '#f8f9fb',
  '--ui-hover': '#f5f6f9',
  '--ui-accent-soft': '#e3e9f9',
  '--ui-accent-text': '#2f4690',
  '--ui-neutral-bg': '#f0f1f4',
  '--ui-neutral-text': '#464b57',
  '--ui-teal-bg': '#dcf5ee',
  '--ui-teal-text': '#0b6350',
  '--ui-teal-solid': '#12936f',
  '--ui-amber-bg': '#fdf1cf',
  '--ui-amber-text': '#7a5200',
  '--ui-amber-solid': '#d87400',
  '--ui-orange-bg': '#ffe7d3',
  '--ui-orange-text': '#9a3d00',
  '--ui-orange-solid': '#c84400',
  '--ui-red-bg': '#ffe3e2',
  '--ui-red-text': '#ab1c18',
  '--ui-red-solid': '#a81420',
  '--ui-violet-bg': '#f3e3fa',
  '--ui-violet-text': '#7a2a97',
} as const;

const darkColors: Record<keyof typeof lightColors, string> = {
  '--ui-page': '#101114',
  '--ui-line': '#26282f',
  '--ui-line-strong': '#383b45',
  '--ui-field-line': '#727784',
  '--ui-header': '#1a1b20',
  '--ui-hover': '#1d1f25',
  '--ui-accent-soft': '#232c4a',
  '--ui-accent-text': '#afbef0',
  '--ui-neutral-bg': '#282a31',
  '--ui-neutral-text': '#c3c6cf',
  '--ui-teal-bg': '#10342c',
  '--ui-teal-text': '#6fdcbc',
  '--ui-teal-solid': '#2fbf98',
  '--ui-amber-bg': '#3a2d0c',
  '--ui-amber-text': '#f2c75c',
  '--ui-amber-solid': '#f6b73c',
  '--ui-orange-bg': '#43260f',
  '--ui-orange-text': '#ffb27d',
  '--ui-orange-solid': '#ee7a2e',
  '--ui-red-bg': '#441c1c',
  '--ui-red-text': '#ff9d99',
  '--ui-red-solid': '#dc4440',
  '--ui-violet-bg': '#36203f',
  '--ui-violet-text': '#dda6f0',
};

/** The color tokens of both schemes. */
export const cssVariablesResolver: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...lightColors,
    '--mantine-color-text': '#17191e',
    '--mantine-color-dimmed': '#5c616d',
    '--mantine-color-placeholder': '#6b707c',
    '--mantine-color-disabled-color': '#b4b8c2',
    '--mantine-color-error': '#b3201c',
    '--mantine-color-default-border': '#d3d6dd',
    '--mantine-color-anchor': '#3d59b2',
    '--mantine-color-ink-light-color': '#334b98',
    '--mantine-color-red-light-color': '#b3201c',
    '--mantine-color-gray-light-color': '#4a4f5b',
  },
  dark: {
    ...darkColors,
    '--mantine-color-text': '#e3e5ea',
    '--mantine-color-dimmed': '#9da1ad',
    '--mantine-color-placeholder': '#8f93a0',
    '--mantine-color-disabled-color': '#565a66',
    '--mantine-color-error': '#ff9d99',
    '--mantine-color-default-border': '#383b45',
    '--mantine-color-anchor': '#9fb1ee',
    '--mantine-color-ink-light-color': '#9fb1ee',
    '--mantine-color-red-light-color': '#ff9d99',
    '--mantine-color-gray-light-color': '#b8bbc5',
  },
});
