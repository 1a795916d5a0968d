import { counted } from './counted.ts';

/**
 * Says how many results there are, where a list has no `Pagination`. It is rendered before they are there: what a live
 * region begins with is not announced.
 */
export function ListCount({ found }: { found: number | undefined }) {
  return (
    <div className="visually-hidden" aria-live="polite" aria-atomic>
      {found !== undefined && (found === 0 ? 'No results' : counted(found, 'result'))}
    </div>
  );
}
