import { Button } from '@mantine/core';
import { Suspense } from 'react';
import { useKept } from '../../kept-work.ts';
import { useAuth } from '../../session.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { Page } from '../../ui/Page.tsx';
import { IconSettings } from '../../ui/icons.tsx';
import classes from './audit.module.css';
import { AuditList } from './AuditList.tsx';
import { ChainBadge } from './ChainBadge.tsx';
import { useAuditSearch } from './audit-search.ts';
import { VerifyButton } from './VerifyChain.tsx';
import { lazyPart } from '../../ui/lazy-part.ts';

const AuditStats = lazyPart(() => import('./AuditStats.tsx'));
const EntryDrawer = lazyPart(() => import('./EntryDrawer.tsx'));
const Retention = lazyPart(() => import('./Retention.tsx'));

/** The audit log (spec part 2, section 2.9); its filters and the open entry are in the URL. */
export function AuditPage() {
  const { search, change } = useAuditSearch();
  const { hasPermission } = useAuth();
  const [retention, setRetention] = useKept<true>('open: retention');
  return (
    <Page
      title="Audit Log"
      actions={
        <>
          <ChainBadge onOpen={(entry) => change({ entry })} />
          {(hasPermission('audit', 'update') || hasPermission('audit', 'delete')) && (
            <Button variant="default" leftSection={<IconSettings />} onClick={() => setRetention(true)}>
              Retention
            </Button>
          )}
          <VerifyButton onOpen={(entry) => change({ entry })} />
        </>
      }
    >
      <Suspense fallback={<div className={`panel ${classes.strip}`} aria-hidden />}>
        <AuditStats />
      </Suspense>
      <AuditList />
      <LazyDialogs>
        {search.entry && <EntryDrawer id={search.entry} />}
        {retention && <Retention onClose={() => setRetention(undefined)} />}
      </LazyDialogs>
    </Page>
  );
}
