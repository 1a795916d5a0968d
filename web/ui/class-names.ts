/** Types the class names of a CSS module for Mantine's `classNames`, which does not accept undefined. */
export const classNames = <Part extends string>(
  names: Record<Part, string | undefined>,
): Record<Part, string> => names as Record<Part, string>;
