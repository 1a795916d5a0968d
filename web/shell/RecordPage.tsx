import { Skeleton } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { capitalize } from '../../contract/text.ts';
import { Gone, LoadError } from '../LoadError.tsx';
import { AsOf } from '../ui/AsOf.tsx';
import { useTitlePart } from '../ui/document-title.ts';
import { cameFrom } from '../ui/came-from.ts';
import { Page } from '../ui/Page.tsx';
import { Scroller } from '../ui/Scroller.tsx';
import { useRecentRecord } from './recent-records.ts';

/** The page of one record: its title and actions, a skeleton while it loads, and why it could not be loaded. */
export function RecordPage<Data>(props: {
  /** What the record is, such as `release`: for the title and the messages until it has loaded. */
  what: string;
  query: UseQueryResult<Data, unknown>;
  /** Further queries that the page shows the age of. */
  others?: readonly UseQueryResult<unknown, unknown>[];
  /** Linked above the title, after the screen that the user came from. */
  back: { to: string; label: string };
  /** Shown when there is no such record. */
  whyMissing: string;
  /** Undefined until the record has loaded. */
  title: string | undefined;
  /** What tells it from others with the same title, in the title of the window and in the command palette. */
  name?: string | undefined;
  note?: ReactNode;
  beside?: ReactNode;
  actions?: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  const { what, query, others = [], back, whyMissing, title, name, note, beside, actions, children } = props;
  const { data } = query;
  useTitlePart('tab', name);
  useRecentRecord(data && [title, name].filter(Boolean).join(' '));
  const [from] = useState(cameFrom);
  return (
    <Page
      title={title ?? capitalize(what)}
      note={note}
      beside={beside}
      back={back}
      origin={from && from.path !== back.to ? { to: from.path, label: `Back to ${from.title}` } : undefined}
      actions={
        data && (
          <>
            <AsOf queries={[query, ...others]} />
            {actions}
          </>
        )
      }
    >
      {data ? (
        <Scroller label="Details">
          <Gone query={query} />
          {children(data)}
        </Scroller>
      ) : query.isLoadingError ? (
        <LoadError title={`Error loading ${what}`} query={query} record={what} whyMissing={whyMissing} />
      ) : (
        <div aria-busy>
          <Skeleton height={150} radius={8} mb="md" />
          <Skeleton height={320} radius={8} />
        </div>
      )}
    </Page>
  );
}
