import { Button, Group, SegmentedControl, Stack, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import { largestFile } from '../../../contract/builds.ts';
import { kindOf, unfedReason } from '../../../contract/fed-kinds.ts';
import { messageOf } from '../../api-error.ts';
import { useDialogForm, useEntered } from '../../dialog-form.ts';
import { keptValues } from '../../kept-work.ts';
import { ReachConfirm } from '../../ReachConfirm.tsx';
import { useRefusedFields } from '../../refused-fields.ts';
import { typedFields } from '../../release-form.ts';
import { atPlanFields } from '../../release-plan.ts';
import { CancelButton } from '../../ui/Dialog.tsx';
import { ErrorText } from '../../ui/ErrorText.tsx';
import { Fields } from '../../ui/Fields.tsx';
import { useLastFile } from '../../ui/last-file.ts';
import { NumberField } from '../../ui/NumberField.tsx';
import { toast } from '../../ui/toast.tsx';
import { useChange } from '../../use-change.ts';
import { useDraftOnly } from '../approvals/index.ts';
import { BuildInputs } from './BuildInputs.tsx';
import { architectureOf, isAccepted, platformOf, versionOf } from './detect-build.ts';
import { FileChoice, wrongType } from './FileChoice.tsx';
import { PublishInputs } from './PublishInputs.tsx';
import { useLostFile } from './lost-file.ts';
import {
  fieldsOf,
  fileNameIn,
  firstOf,
  needsReachConfirm,
  urlPayloadOf,
  validate,
  withVersion,
  type NewReleaseState,
  type ReleaseMode,
  type NewReleaseValues,
} from './new-release.ts';
import { createFromUrl, useVersions } from './release-versions.ts';
import { refuseContent, type ChosenFile } from './upload-file.ts';
import { currentUser, uploadList } from './upload-session.ts';
import classes from './uploads.module.css';
import { aboutRelease } from '../../toast-subjects.ts';

const modes = [
  { value: 'file', label: 'Upload a file' },
  { value: 'url', label: 'File URL' },
];

const formKey = 'new release';

/** Fields of the upload modal. It is not submitted while one of them is invalid. */
export function NewReleaseForm(props: {
  start: NewReleaseValues;
  startFile: ChosenFile | null;
  /** The stopped upload whose details are changed. */
  corrected: string | undefined;
  onUpload: (id: string, chosen: ChosenFile) => void;
  onClose: () => void;
}) {
  const [chosen, setChosen] = useEntered(`${formKey} file`, null, props.startFile);
  const [{ platform, channel, isDraft }, setLine] = useState(() => keptValues(formKey, props.start));
  const lost = useLostFile(chosen?.file.name);
  const [missing, setMissing] = useState('File is required');
  const known = useVersions(platform, channel);
  const [heldVersion, setHeldVersion] = useState<string>();
  const draftOnly = useDraftOnly(channel, isDraft);
  const form = useDialogForm<NewReleaseValues>(formKey, {
    initialValues: props.start,
    validate: (typed) => ({
      ...validate(withVersion(typed, known, heldVersion), chosen === null ? missing : undefined),
      ...(draftOnly !== null && !typed.isDraft && { isDraft: draftOnly }),
    }),
    validateInputOnBlur: [...typedFields, 'fileUrl', 'fileSize', 'sha512'],
    onValuesChange: setLine,
  });
  const create = useChange({
    mutationFn: createFromUrl,
    onSuccess: (release) => {
      void toast({ message: `Release ${release.version} created`, subject: aboutRelease(release) });
      props.onClose();
    },
    // The modal stays open (spec part 2, section 8).
    onError: (error) => console.warn('Failed to save release:', messageOf(error)),
  });
  const [publishing, setPublishing] = useState(false);
  const { setErrors } = form;
  const values = withVersion(form.values, known, heldVersion);
  const problem = useRefusedFields(create.error, form, atPlanFields);

  const nameVersion = values.mode === 'file' && chosen ? versionOf(chosen.file.name) : undefined;

  const fileName = values.mode === 'file' ? chosen?.file.name : fileNameIn(values.fileUrl);

  // Another suggestion by now would be sent by the very click that leaves the field.
  const leaveVersion = () => {
    const { version } = values;
    if (withVersion(form.values, known).version !== version) form.setValues({ bump: null, version });
    setHeldVersion(undefined);
    // a suggestion is right, or still to come
    if (form.getValues().bump === null) form.validateField('version');
  };

  const file = useLastFile();
  const reject = (reason: string) => {
    setMissing(reason);
    // neither is the file before, nor one that is still read: the last choice is the one that counts
    file.stop();
    setChosen(null);
    // those of now: a file that is refused late was chosen before what was typed since
    setErrors((errors) => ({ ...errors, file: reason }));
  };
  /** The version in the name of the file that was taken last. */
  const lastNamed = useRef(nameVersion);
  const take = (next: ChosenFile) => {
    const { name } = next.file;
    const inName = versionOf(name);
    // keeps the user's input, and warns when it differs from the file name
    const { bump, version } = form.getValues();
    const mayFollow = bump !== null || version === lastNamed.current;
    lastNamed.current = inName;
    setChosen(next);
    form.clearFieldError('file');
    form.setValues({
      platform: platformOf(name),
      architecture: architectureOf(name),
      ...(inName !== undefined && mayFollow && { bump: null, version: inName }),
    });
  };

  const choose = (next: ChosenFile) => {
    if (!isAccepted(next.file.name)) return reject(wrongType);
    file.read(
      refuseContent(next.file),
      (refused) => (refused === undefined ? take(next) : reject(refused)),
      (error) => reject(messageOf(error)),
    );
  };

  const send = () => {
    setPublishing(false);
    if (values.mode === 'url') create.mutate(urlPayloadOf(values));
    else if (chosen)
      props.onUpload(uploadList.start(chosen, fieldsOf(values), currentUser(), props.corrected), chosen);
  };
  const submit = () => (needsReachConfirm(values) ? setPublishing(true) : send());

  return (
    <>
      <form noValidate onSubmit={form.onSubmit(submit)}>
        <Stack gap="md">
          <Fields busy={create.isPending}>
            <SegmentedControl
              aria-label="Where the file comes from"
              data={modes}
              value={values.mode}
              onChange={(mode) => {
                // it would change the platform that is chosen for the URL
                file.stop();
                form.clearErrors();
                form.setFieldValue('mode', mode as ReleaseMode);
              }}
            />
            {values.mode === 'file' ? (
              <FileChoice
                chosen={chosen}
                lost={lost}
                error={form.errors['file']}
                onChoose={choose}
                onReject={reject}
              />
            ) : (
              <UrlInputs form={form} />
            )}
            <BuildInputs
              form={form}
              known={known}
              version={values.version}
              nameVersion={nameVersion}
              hold={{ onFocus: () => setHeldVersion(values.version), onBlur: leaveVersion }}
            />
            <PublishInputs form={form} build={{ ...values, fileName }} draftOnly={draftOnly} />
          </Fields>
          {problem && <ErrorText>{problem}</ErrorText>}
          <Group justify="flex-end" gap="xs" className={classes.foot}>
            <CancelButton onCancel={props.onClose} />
            <Button type="submit" loading={create.isPending || file.isReading}>
              {values.mode === 'file' ? 'Upload Release' : 'Create Release'}
            </Button>
          </Group>
        </Stack>
      </form>
      {publishing && (
        <ReachConfirm
          title="Publish Release"
          confirmLabel="Publish"
          build={{ ...fieldsOf(values), fileName: fileName ?? '', rolloutPercentage: firstOf(values) }}
          unfed={unfedReason(values.platform, kindOf(fileName ?? ''), values.mode === 'file')}
          onConfirm={send}
          onClose={() => setPublishing(false)}
        />
      )}
    </>
  );
}

function UrlInputs({ form }: { form: NewReleaseState }) {
  return (
    <Stack gap="md">
      <TextInput
        label="File URL"
        required
        type="url"
        placeholder="https://"
        {...form.getInputProps('fileUrl')}
      />
      <NumberField
        label="File Size"
        description="In bytes"
        required
        min={1}
        max={largestFile}
        {...form.getInputProps('fileSize')}
      />
      <TextInput
        label="SHA512"
        description="In base64 or hex"
        required
        classNames={{ input: 'mono' }}
        spellCheck={false}
        {...form.getInputProps('sha512')}
      />
    </Stack>
  );
}
