import * as z from 'zod';

export const analyzeChunkEnv = z.object({ BUCKET_NAME: z.string().min(1) });
