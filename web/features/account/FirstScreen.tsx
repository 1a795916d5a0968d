import type { Screen } from '../../../contract/screens.ts';
import { sentenceOf } from '../../api-error.ts';
import { useAuth } from '../../session.tsx';
import { firstReadable, reachable } from '../../shell/navigation.ts';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { toast } from '../../ui/toast.tsx';
import { Select } from '../../ui/Select.tsx';
import { aboutAccount } from '../../toast-subjects.ts';
import { useChange } from '../../use-change.ts';
import { setFirstScreen } from './queries.ts';

const usual = 'usual';

/** Which of the screens that the user may read opens first. */
export function FirstScreen() {
  const { permissions, firstScreen, refreshRights } = useAuth();
  const screens = reachable(permissions);
  const isReadable = screens.some(({ screen }) => screen === firstScreen);
  const save = useChange({
    mutationFn: (screen: Screen | null) => setFirstScreen(screen),
    onSuccess: async () => {
      await refreshRights();
      void toast({ message: 'First screen saved', subject: aboutAccount });
    },
  });
  const shown = save.isPending ? save.variables : firstScreen;
  return (
    <>
      <Select
        w={320}
        maw="100%"
        label="First screen"
        allowDeselect={false}
        data={[
          { value: usual, label: `${firstReadable(permissions)?.label ?? 'None'} (default)` },
          ...screens.map(({ screen, label }) => ({ value: screen, label })),
        ]}
        value={isReadable || save.isPending ? (shown ?? usual) : usual}
        onChange={(chosen) => save.mutate(screens.find(({ screen }) => screen === chosen)?.screen ?? null)}
      />
      {save.error && <ErrorText>{sentenceOf(save.error, 'Failed to save the first screen')}</ErrorText>}
    </>
  );
}
