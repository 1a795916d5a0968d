import { z } from 'zod';
import { url } from '../../contract/common.ts';

export type UrlCompleter = ((data: unknown) => unknown) | undefined;

/** Prepends the service's address to the paths in a response of this schema; undefined where it has no URLs. */
export function urlCompleter(schema: z.ZodType | undefined, publicUrl: string): UrlCompleter {
  if (schema === url)
    return (value) => (typeof value === 'string' && value.startsWith('/') ? publicUrl + value : value);
  if (schema instanceof z.ZodArray) {
    const complete = urlCompleter(schema.element as z.ZodType, publicUrl);
    return complete && ((values) => (values as unknown[]).map(complete));
  }
  if (!(schema instanceof z.ZodObject)) return undefined;
  const fields = Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([name, field]) => {
    const complete = urlCompleter(field, publicUrl);
    return complete ? [[name, complete] as const] : [];
  });
  if (fields.length === 0) return undefined;
  return (value) => {
    const record = value as Record<string, unknown>;
    return {
      ...record,
      ...Object.fromEntries(fields.map(([name, complete]) => [name, complete(record[name])])),
    };
  };
}
