import { useNavigate } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { PageForm } from '../../ui/Dialog.tsx';
import { Page } from '../../ui/Page.tsx';
import { pageTerms } from '../../../contract/license-term.ts';
import classes from './licenses.module.css';
import { NewLicense } from './NewLicense.tsx';

/** The page /licenses/new: the form of the modal with other defaults (spec part 2, sections 7–9). */
export function NewLicensePage() {
  const navigate = useNavigate();
  const close = () => void navigate({ to: paths.licenses });
  return (
    <Page title="New License" back={{ to: paths.licenses, label: 'Back to Licenses' }}>
      <section className={classes.card} aria-label="New license">
        <PageForm onClose={close}>
          <NewLicense terms={pageTerms} onClose={close} />
        </PageForm>
      </section>
    </Page>
  );
}
