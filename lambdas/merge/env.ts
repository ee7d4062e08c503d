import * as z from 'zod';

export const mergeEnv = z.object({ BUCKET_NAME: z.string().min(1) });
