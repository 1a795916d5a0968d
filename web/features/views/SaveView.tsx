import { Checkbox, TextInput } from '@mantine/core';
import { longestViewName, type SavedView, type ViewList } from '../../../contract/views.ts';
import { sentenceBesideFields } from '../../api-error.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { DialogForm } from '../../ui/DialogForm.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { createView, updateView } from './queries.ts';
import { aboutView } from './view-path.ts';

type Props = {
  list: ViewList;
  /** The filters of a new view. */
  query: string;
  /** The view to rename or share; undefined for a new one. */
  view: SavedView | undefined;
  onSaved: (view: SavedView) => void;
  onClose: () => void;
};

/** Name and visibility of a view. */
export default function SaveView(props: Props) {
  return (
    <Dialog title={props.view ? 'Edit View' : 'Save View'} subject={props.view?.name} onClose={props.onClose}>
      <ViewForm {...props} />
    </Dialog>
  );
}

function ViewForm({ list, query, view, onSaved, onClose }: Props) {
  const form = useDialogForm(view ? `view ${view.id}` : `new view of ${list}`, {
    initialValues: { name: view?.name ?? '', shared: view?.shared ?? false },
    validate: ({ name }) => (name.trim() ? {} : { name: 'Name is required' }),
  });
  const save = useChange({
    mutationFn: (values: typeof form.values) =>
      view
        ? updateView(view.id, { ...values, updatedAt: view.updatedAt })
        : createView({ ...values, list, query }),
    onSuccess: (saved) => {
      void toast({ message: `View ${saved.name} saved`, subject: aboutView(saved) });
    },
  });
  const onSuccess = (saved: SavedView) => {
    onClose();
    onSaved(saved);
  };
  useRefusedFields(save.error, form);
  return (
    <DialogForm
      // left out once the dialog was left: what was saved is not opened over what is shown by then
      onSubmit={form.onSubmit((values) => save.mutate(values, { onSuccess }))}
      problem={sentenceBesideFields(save.error, 'The view was not saved')}
      submitLabel="Save View"
      busy={save.isPending}
      onCancel={onClose}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={longestViewName}
        {...form.getInputProps('name')}
      />
      <Checkbox
        label="Shared with everyone who may read this list"
        {...form.getInputProps('shared', { type: 'checkbox' })}
      />
    </DialogForm>
  );
}
