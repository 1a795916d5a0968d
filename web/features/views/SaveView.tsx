import { Checkbox, TextInput } from '@mantine/core';
import type { SavedView, ViewList } from '../../../contract/views.ts';
import { sentenceBesideFields } from '../../api-error.ts';
import { useDialogForm } from '../../dialog-form.ts';
import { differingFields, useEdit, type Clash } from '../../edit-conflict.ts';
import { useSeen } from '../../kept-work.ts';
import { useRefusedFields } from '../../refused-fields.ts';
import { ConflictDialog } from '../../ui/ConflictDialog.tsx';
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
  onCreated: (view: SavedView) => void;
  onClose: () => void;
};

/** Name and visibility of a view. */
export default function SaveView({ view, ...props }: Props) {
  return (
    <Dialog title={view ? 'Edit View' : 'Save View'} subject={view?.name} onClose={props.onClose}>
      {view ? <EditForm view={view} onClose={props.onClose} /> : <NewForm {...props} />}
    </Dialog>
  );
}

const saidSaved = (view: SavedView) =>
  void toast({ message: `View ${view.name} saved`, subject: aboutView(view) });

function NewForm({ list, query, onCreated, onClose }: Omit<Props, 'view'>) {
  const create = useChange({
    mutationFn: (values: Fields) => createView({ ...values, list, query }),
    onSuccess: saidSaved,
  });
  const onSuccess = (created: SavedView) => {
    onClose();
    onCreated(created);
  };
  return (
    <ViewForm
      name={`new view of ${list}`}
      initialValues={{ name: '', shared: false }}
      // left out once the dialog was left: what was saved is not opened over what is shown by then
      onSubmit={(values) => create.mutate(values, { onSuccess })}
      error={create.error}
      busy={create.isPending}
      onClose={onClose}
    />
  );
}

function EditForm({ view, onClose }: { view: SavedView; onClose: () => void }) {
  const [seen] = useSeen(`view ${view.id}`, view);
  const edit = useEdit({
    subject: aboutView(seen),
    save: (values: Fields, { updatedAt }) => updateView(view.id, { ...values, updatedAt }),
    onSaved: (saved) => {
      saidSaved(saved);
      onClose();
    },
    onGivenUp: onClose,
  });
  return (
    <>
      <ViewForm
        name={`view ${view.id}`}
        initialValues={{ name: seen.name, shared: seen.shared }}
        onSubmit={(values) => edit.submit(values, seen)}
        error={edit.error}
        busy={edit.busy}
        onClose={onClose}
      />
      <ConflictDialog edit={edit} rowsOf={conflictRows} />
    </>
  );
}

const conflictRows = (clash: Clash) =>
  differingFields(clash, { name: 'Name', shared: 'Visible to' }, { shared: sharedText });

const sharedText = (shared: boolean) => (shared ? 'Everyone who may read this list' : 'Its owner');

type Fields = { name: string; shared: boolean };

function ViewForm(props: {
  /** Of the form, for what is typed while a session ends. */
  name: string;
  initialValues: Fields;
  onSubmit: (values: Fields) => void;
  error: Error | null;
  busy: boolean;
  onClose: () => void;
}) {
  const form = useDialogForm(props.name, {
    initialValues: props.initialValues,
    validate: ({ name }) => (name.trim() ? {} : { name: 'Name is required' }),
  });
  useRefusedFields(props.error, form);
  return (
    <DialogForm
      onSubmit={form.onSubmit(props.onSubmit)}
      problem={sentenceBesideFields(props.error, 'The view was not saved')}
      submitLabel="Save View"
      busy={props.busy}
      onCancel={props.onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <Checkbox
        label="Shared with everyone who may read this list"
        {...form.getInputProps('shared', { type: 'checkbox' })}
      />
    </DialogForm>
  );
}
