import type { Customer } from '../../../contract/customers.ts';
import type { RowActionList } from '../../ui/row-actions.ts';

type Handlers = {
  onPage: (customer: Customer) => void;
  onEdit: ((customer: Customer) => void) | undefined;
  onPolicy: ((customer: Customer) => void) | undefined;
  onDelete: ((customer: Customer) => void) | undefined;
};

/** The actions of a customer; undefined where the user may do nothing. */
export function customerActions({ onPage, onEdit, onPolicy, onDelete }: Handlers) {
  if (!onEdit && !onPolicy && !onDelete) return undefined;
  return (customer: Customer): RowActionList => [
    { label: 'Open Page', key: 'Enter', run: () => onPage(customer) },
    onEdit && { label: 'Edit', key: 'e', inRow: true, run: () => onEdit(customer) },
    onPolicy && { label: 'Updates', key: 'u', run: () => onPolicy(customer) },
    onDelete && { label: 'Delete', key: 'd', danger: true, inRow: true, run: () => onDelete(customer) },
  ];
}
