import { useAuth } from '../../session.tsx';
import { LazyDialogs } from '../../ui/LazyDialogs.tsx';
import { CreateButton } from '../../ui/ListButtons.tsx';
import { Page } from '../../ui/Page.tsx';
import { IconShieldLock } from '../../ui/icons.tsx';
import classes from './api-keys.module.css';
import { ApiKeyList } from './ApiKeyList.tsx';
import { useApiKeysSearch } from './api-keys-search.ts';
import { lazyPart } from '../../ui/lazy-part.ts';

const CreateApiKey = lazyPart(() => import('./CreateApiKey.tsx'));
const ApiKeyModal = lazyPart(() => import('./ApiKeyModal.tsx'));

/** API keys (spec part 2, section 2.10). The open dialog is in the URL. */
export function ApiKeysPage() {
  const { search, change } = useApiKeysSearch();
  const close = () => change({ dialog: undefined, key: undefined });
  const { can } = useAuth();
  return (
    <Page
      title="API Key Management"
      actions={
        can.createApiKeys && (
          <CreateButton onClick={() => change({ dialog: 'create' })}>Create API Key</CreateButton>
        )
      }
    >
      <SecurityNote />
      <ApiKeyList />
      <LazyDialogs>
        {search.dialog === 'create' && can.createApiKeys && <CreateApiKey onClose={close} />}
        {search.key && (
          <ApiKeyModal
            id={search.key}
            edits={search.dialog === 'edit' && can.updateApiKeys}
            onEdit={() => change({ dialog: 'edit' })}
            onClose={close}
          />
        )}
      </LazyDialogs>
    </Page>
  );
}

function SecurityNote() {
  return (
    <div role="note" className={`panel ${classes.note}`}>
      <IconShieldLock size={16} />
      <div>
        <p>
          API keys are used to authenticate desktop applications. Each key is shown only once upon creation.
        </p>
        <p>Keys are hashed before storage and support IP whitelisting and rate limiting.</p>
      </div>
    </div>
  );
}
