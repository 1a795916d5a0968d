import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core';
import { useId, useState } from 'react';
import type { ApiKey } from '../../../contract/api-keys.ts';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { focusLate } from '../../ui/focus-late.ts';
import { IconAlertTriangle, IconEye, IconEyeOff } from '../../ui/icons.tsx';
import { snippetsFor, type Snippet } from './api-key-snippets.ts';
import classes from './api-keys.module.css';

/** The whole key, shown only once, and the next steps. */
export function ApiKeyCreated({ made, onDone }: { made: ApiKey & { key: string }; onDone: () => void }) {
  const warning = useId();
  return (
    <Stack gap="md" ref={focusLate}>
      <Text role="status" tabIndex={-1} data-autofocus aria-describedby={warning}>
        API key &quot;{made.name}&quot; created.
      </Text>
      <SecretKey made={made} />
      <p className={classes.warning} id={warning}>
        <IconAlertTriangle size={16} />
        This key will not be shown again. If you lose it, you&apos;ll need to create a new one.
      </p>
      {snippetsFor(made.scopes, window.location.origin).map((snippet) => (
        <SnippetBox key={snippet.title} snippet={snippet} />
      ))}
      <Group justify="flex-end">
        <Button variant="default" onClick={onDone}>
          Done
        </Button>
      </Group>
    </Stack>
  );
}

function SecretKey({ made }: { made: ApiKey & { key: string } }) {
  const [isShown, setShown] = useState(false);
  const { key, keyPrefix } = made;
  return (
    <div className={classes.keyBox} role="group" aria-label="API key">
      <span className="mono">
        {isShown ? (
          key
        ) : (
          <>
            {keyPrefix}
            <span aria-hidden>{'•'.repeat(key.length - keyPrefix.length)}</span>
          </>
        )}
      </span>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={isShown ? 'Hide key' : 'Show key'}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? <IconEyeOff size={16} /> : <IconEye size={16} />}
      </ActionIcon>
      <Copy value={key} what="key" />
    </div>
  );
}

function SnippetBox({ snippet }: { snippet: Snippet }) {
  return (
    <section className={classes.snippet}>
      <div className={classes.snippetHead}>
        <h3>{snippet.title}</h3>
        <Copy value={snippet.text} what={snippet.title} />
      </div>
      <pre className="mono" tabIndex={0} aria-label={snippet.title}>
        {snippet.text}
      </pre>
      <p>{snippet.note}</p>
    </section>
  );
}

function Copy({ value, what }: { value: string; what: string }) {
  return (
    <CopyButton value={value}>
      {({ copied, copy, icon }) => (
        <Button
          variant="default"
          size="compact-sm"
          aria-label={copied ? undefined : `Copy ${what}`}
          leftSection={icon}
          onClick={copy}
        >
          {copied ? 'Copied!' : 'Copy'}
        </Button>
      )}
    </CopyButton>
  );
}
