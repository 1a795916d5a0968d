/** The names of a CSS module for `classNames` of the library, which takes no undefined: a module has what it is asked for. */
export const classNames = <Part extends string>(
  names: Record<Part, string | undefined>,
): Record<Part, string> => names as Record<Part, string>;
