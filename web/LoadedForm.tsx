import type { ComponentProps, ReactNode } from 'react';
import { Loaded } from './LoadError.tsx';
import { FormSkeleton } from './ui/FormSkeleton.tsx';

/** As `Loaded`, in a dialog: `children` make the form of what was loaded; until then there are bars of `heights`. */
export function LoadedForm<Data>({
  heights,
  children,
  ...props
}: Omit<ComponentProps<typeof Loaded>, 'children'> & {
  query: { data: Data | undefined };
  heights: readonly number[];
  children: (data: Data) => ReactNode;
}) {
  const { data } = props.query;
  const shown = data === undefined ? <FormSkeleton heights={heights} /> : children(data);
  return <Loaded {...props}>{shown}</Loaded>;
}
