import { Checkbox } from '@mantine/core';
import {
  actions,
  permissionName,
  permit,
  resourceActions,
  resources,
  type Action,
  type Permission,
  type Resource,
  roleLabel,
} from '../../../contract/permissions.ts';
import { cellLabel, resourceLabel } from './role-form.ts';
import classes from './roles.module.css';

/** Resources by actions; the cell is empty where a resource does not have the action. */
export function RoleMatrix(props: {
  label: string;
  cells: ReadonlySet<string>;
  whyNot: (permission: Permission) => string | null;
  onChange: (cell: string, on: boolean) => void;
}) {
  const { cells, whyNot, onChange } = props;
  const cell = (resource: Resource, action: Action) => {
    const permission = permit(resource, action);
    const name = permissionName(permission);
    return (
      <MatrixCell
        label={cellLabel(permission)}
        checked={cells.has(name)}
        reason={whyNot(permission)}
        onChange={(on) => onChange(name, on)}
      />
    );
  };
  return (
    <div className={classes.matrixBox}>
      <table className={classes.matrix} aria-label={props.label}>
        <thead>
          <tr>
            <th scope="col">Resource</th>
            {actions.map((action) => (
              <th key={action} scope="col">
                {roleLabel(action)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {resources.map((resource) => (
            <tr key={resource}>
              <th scope="row">{resourceLabel(resource)}</th>
              {actions.map((action) => (
                <td key={action}>{resourceActions[resource].includes(action) && cell(resource, action)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Stays in the tab order when it is disabled, so that the reason can be reached by keyboard. */
function MatrixCell(props: {
  label: string;
  checked: boolean;
  reason: string | null;
  onChange: (on: boolean) => void;
}) {
  const { label, checked, reason, onChange } = props;
  return (
    <span className={classes.cell} data-hint={reason ?? undefined}>
      <Checkbox
        aria-label={reason ? `${label}. ${reason}` : label}
        aria-disabled={reason !== null || undefined}
        checked={checked}
        onChange={(event) => !reason && onChange(event.currentTarget.checked)}
        // it would save the role
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        styles={reason ? { input: { opacity: 0.55, cursor: 'not-allowed' } } : {}}
      />
    </span>
  );
}
