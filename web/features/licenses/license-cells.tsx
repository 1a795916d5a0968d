import { type License } from '../../../contract/licenses.ts';
import { moduleLabel } from '../../../contract/module-ids.ts';
import { RecordLink } from '../../shell/RecordLink.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { useNow } from '../../ui/use-now.ts';
import { expiresIn } from './license-expiry.ts';
import { ownerText, stateBadge, typeBadges } from './license-labels.ts';
import classes from './licenses.module.css';
import { utcDate } from '../../ui/time.ts';

export function TypeBadge({ type }: Pick<License, 'type'>) {
  return <StatusBadge tone={typeBadges[type].tone}>{typeBadges[type].word}</StatusBadge>;
}

/** Expired is derived from the clock (spec part 1, section 4). */
export function StateBadge({ license }: { license: License }) {
  const { tone, word } = stateBadge(license, useNow());
  return <StatusBadge tone={tone}>{word}</StatusBadge>;
}

export function CustomerCell({ customer, customerId }: Pick<License, 'customer' | 'customerId'>) {
  const text = ownerText(customer);
  if (!customer) return text;
  return (
    <RecordLink kind="customer" id={customerId}>
      {text}
    </RecordLink>
  );
}

/** The first module and the number of others, which a tooltip lists. */
export function ModulesCell({ moduleIds }: Pick<License, 'moduleIds'>) {
  const [first, ...rest] = moduleIds.map(moduleLabel);
  if (!first)
    return (
      <span role="img" aria-label="No modules">
        —
      </span>
    );
  return (
    <span className={classes.modules}>
      <span className="ellipsis">{first}</span>
      {rest.length > 0 && (
        <button
          type="button"
          className={classes.more}
          data-tells
          data-hint={rest.join(', ')}
          aria-label={`${rest.length} more: ${rest.join(', ')}`}
        >
          +{rest.length}
        </button>
      )}
    </span>
  );
}

export function ValidUntilCell({ license }: { license: License }) {
  const left = expiresIn(license, useNow());
  return (
    <span className={classes.until}>
      <time dateTime={license.validUntil} title={license.validUntil.replace('T', ' ').replace('Z', ' UTC')}>
        {utcDate(license.validUntil)}
      </time>
      {left && <StatusBadge tone="orange">Expires in {left}</StatusBadge>}
    </span>
  );
}
