import { ClosedSelect, Late } from '../../ui/Late.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';

const CustomerSelect = lazyPart(async () => ({
  default: (await import('./CustomerSelect.tsx')).CustomerSelect,
}));

/** Filters a list by customer. Loads its choices when it is first reached, as most visits never use it. */
export function CustomerFilter(props: {
  w: number;
  value: string | undefined;
  /** Of the chosen customer, when the screen has it already. */
  name?: string | undefined;
  onChange: (customer: string | undefined) => void;
}) {
  const { w, value, name, onChange } = props;
  return (
    <Late look={<ClosedSelect w={w} placeholder="All customers" value={(value && name) ?? ''} />}>
      <CustomerSelect
        w={w}
        aria-label="Customer"
        placeholder="All customers"
        clearable
        loadsLate
        value={value ?? null}
        name={name}
        onChange={(customer) => onChange(customer ?? undefined)}
      />
    </Late>
  );
}
