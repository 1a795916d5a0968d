import { countryName } from '../../../contract/countries.ts';
import { customerFileColumns, imports } from '../../../contract/imports.ts';
import { call } from '../../api.ts';
import { counted } from '../../ui/counted.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { paths } from '../../paths.ts';
import { toast } from '../../ui/toast.tsx';
import { CsvImport } from './CsvImport.tsx';

const columns = Object.values(customerFileColumns);
const template = {
  name: 'customers.csv',
  text: `${columns.join(',')}\r\nSt. Mary's Hospital,Ada Byrne,it@st-marys.example,+353 1 555 0100,Ireland\r\n`,
};

/** Creates the customers of a CSV file. */
export default function ImportCustomers({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Import Customers" size={720} onClose={onClose}>
      <CsvImport
        noun="customer"
        verb="Import"
        columns={columns}
        template={template}
        option={(count) => `Skip ${count === 0 ? 'customers' : counted(count, 'customer')} whose name exists`}
        check={(csv, skipExisting, signal) =>
          call(imports.checkCustomers, { body: { csv, skipExisting } }, { signal })
        }
        save={(csv, skipExisting, checked) =>
          call(imports.customers, { body: { csv, skipExisting, checked } })
        }
        cells={{
          [customerFileColumns.name]: ({ name }) => name,
          [customerFileColumns.contactName]: ({ contactName }) => contactName ?? '—',
          [customerFileColumns.email]: ({ email }) => email ?? '—',
          [customerFileColumns.phone]: ({ phone }) => phone ?? '—',
          [customerFileColumns.country]: ({ country }) => countryName(country),
        }}
        onSaved={({ customers }) => {
          const name = counted(customers, 'customer');
          void toast({ message: `${name} created`, subject: { name, to: paths.customers } });
          onClose();
        }}
        onClose={onClose}
      />
    </Dialog>
  );
}
