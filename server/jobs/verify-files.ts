import type { Context } from '../context.ts';
import { createInspector, verifyDueFiles } from '../features/uploads/uploads.ts';

/** Compares with its hash, once a day, the file of every release; answers how many were looked at and were not right. */
export async function verifyFiles(context: Context): Promise<{ checked: number; damaged: number }> {
  const inspector = createInspector();
  try {
    return await verifyDueFiles({ ...context, inspector });
  } finally {
    await inspector.stop();
  }
}
