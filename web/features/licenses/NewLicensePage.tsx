import { useNavigate } from '@tanstack/react-router';
import { paths } from '../../paths.ts';
import { useAuth } from '../../session.tsx';
import { PageForm } from '../../ui/Dialog.tsx';
import { Page } from '../../ui/Page.tsx';
import { pageTerms } from '../../../contract/license-term.ts';
import classes from './licenses.module.css';
import { useNewLicenseSearch } from './new-license-search.ts';
import { NewLicense } from './NewLicense.tsx';

/** The page /licenses/new: the form of the modal with other defaults (spec part 2, sections 7–9). */
export function NewLicensePage() {
  const navigate = useNavigate();
  const { can } = useAuth();
  const { customer } = useNewLicenseSearch();
  const close = () => void navigate({ to: can.viewLicenses ? paths.licenses : paths.home });
  return (
    <Page title="New License" back={{ to: paths.licenses, label: 'Back to Licenses' }}>
      <section className={`panel ${classes.card}`} aria-label="New license">
        <PageForm onClose={close}>
          <NewLicense key={customer} terms={pageTerms} customerId={customer} onClose={close} />
        </PageForm>
      </section>
    </Page>
  );
}
