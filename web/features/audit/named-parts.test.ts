import { expect, test } from 'vitest';
import type { NamedRecord } from '../../../contract/audit.ts';
import { namedParts } from './named-parts.ts';

const named = (name: string): NamedRecord => ({ kind: 'customer', id: name, name, hostname: null });
const [short, long] = [named('Charité'), named('Charité Berlin')];

test.each([
  ['nothing named', [short], ['nothing named']],
  ['Charité: created', [short], [short, ': created']],
  ['Charitéverein and Charité: joined', [short], ['Charitéverein and ', short, ': joined']],
  ['K: from Charité Berlin to Charité', [short, long], ['K: from ', long, ' to ', short]],
  ['K: from Charité to Charité Berlin', [short, long], ['K: from ', short, ' to ', long]],
])('%s', (text, records, parts) => expect(namedParts(text, records)).toEqual(parts));
