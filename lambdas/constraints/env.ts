import * as z from 'zod';

export const constraintsEnv = z.object({ BUCKET_NAME: z.string().min(1) });
