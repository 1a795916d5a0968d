import { Anchor } from '@mantine/core';
import { countryName } from '../../../contract/countries.ts';
import type { CustomerOverview } from '../../../contract/customer-page.ts';
import { shortDate, utcDate } from '../../ui/time.ts';
import { Tiles } from '../../ui/Tiles.tsx';
import { SeatUsage } from '../activations/index.ts';
import classes from './customer-page.module.css';
import { dialed } from './dialed.ts';
import { countText } from '../../ui/numbers.ts';

type Customer = CustomerOverview['customer'];

/** How to reach the customer. */
export function Contact({ customer }: { customer: Customer }) {
  const facts = {
    Contact: customer.contactName,
    Email: customer.email && <Anchor href={`mailto:${customer.email}`}>{customer.email}</Anchor>,
    Phone: customer.phone && <Anchor href={`tel:${dialed(customer.phone)}`}>{customer.phone}</Anchor>,
    Country: countryName(customer.country),
    'Customer Since': shortDate(customer.createdAt),
  };
  return (
    <dl className={classes.contact}>
      {Object.entries(facts).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value ?? '—'}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Seats, machines and refusals, for users who may read licenses. */
export function Figures({ overview: { seats, machines, refused } }: { overview: CustomerOverview }) {
  if (!seats || machines === null || !refused) return null;
  return (
    <Tiles
      label="Seats and machines"
      tiles={{
        'Seats Used': seats.max > 0 ? <SeatUsage used={seats.used} max={seats.max} /> : '—',
        'Valid Licenses': countText(seats.licenses),
        'Next License Ends': seats.nextEnd ? utcDate(seats.nextEnd) : '—',
        'Machines With a Seat': countText(machines),
        'Refused in 30 Days': countText(refused.total),
      }}
    />
  );
}
