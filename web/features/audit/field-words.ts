import { architectureNames, platformNames } from '../../../contract/builds.ts';
import { countryName } from '../../../contract/countries.ts';
import { moduleLabel } from '../../../contract/module-ids.ts';
import { planText } from '../../../contract/next-step.ts';
import type { MaintenanceWindow } from '../../../contract/policies.ts';
import { roleLabel, type Permission } from '../../../contract/permissions.ts';
import type { PlanStep } from '../../../contract/rollout-plan.ts';
import { capitalize, labelOf } from '../../../contract/text.ts';
import { isObject } from '../../is-object.ts';
import { bytesText } from '../../ui/bytes.ts';
import { fullTime, utcDate } from '../../ui/time.ts';
import { windowText } from '../../window-text.ts';
import { fieldWord } from './audit-words.ts';
import { valueText } from './differences.ts';

// Without schemas, because screens load it: see decision record 67. The server wrote these values by its types.
// Text that somebody typed, and an entry that was altered, may look as if they were.
const isDate = (text: string) => !Number.isNaN(Date.parse(text));
const isMoment = (text: string) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && isDate(text);
const dayWord = (text: string) => (isDate(text) ? utcDate(text) : text);
const isPermission = (item: unknown): item is Permission =>
  isObject(item) && 'resource' in item && 'action' in item;
const isStep = (item: unknown): item is PlanStep => isObject(item) && 'percentage' in item && 'hours' in item;
const isWindow = (item: unknown): item is MaintenanceWindow =>
  isObject(item) && 'weekdays' in item && 'zone' in item;

const words: Record<string, (text: string) => string> = {
  country: countryName,
  platform: (name) => (platformNames as Record<string, string>)[name] ?? name,
  architecture: (name) => (architectureNames as Record<string, string>)[name] ?? name,
  moduleIds: moduleLabel,
  modules: moduleLabel,
  role: roleLabel,
  roles: roleLabel,
  roleId: roleLabel,
  status: capitalize,
  type: capitalize,
  // days, the same for every reader
  validFrom: dayWord,
  validUntil: dayWord,
};

/** A value in the words of the console; `null` where there is none. */
export function valueWord(resource: string, path: string, value: unknown): string | null {
  const field = resource === 'role' && path === 'name' ? 'role' : path.slice(path.lastIndexOf('.') + 1);
  if (typeof value === 'boolean') {
    const [on, off] = fieldWord(resource, path) === 'Status' ? ['Active', 'Inactive'] : ['Yes', 'No'];
    return value ? on : off;
  }
  if (typeof value === 'number') {
    if (field === 'fileSize') return bytesText(value);
    if (field === 'rolloutPercentage') return `${value} %`;
  }
  if (typeof value === 'string' && value !== '') {
    const word = Object.hasOwn(words, field) ? words[field] : undefined;
    if (word) return word(value);
    if (isMoment(value)) return fullTime(value);
  }
  if (Array.isArray(value) && value.length > 0) {
    if (value.every(isStep)) return planText(value);
    return value.map((item) => itemWord(resource, path, item)).join(', ');
  }
  return valueText(value);
}

function itemWord(resource: string, path: string, item: unknown): string {
  if (isPermission(item)) return `${labelOf(item.resource)}: ${item.action}`;
  if (isWindow(item)) return windowText(item);
  return valueWord(resource, path, item) ?? '–';
}
