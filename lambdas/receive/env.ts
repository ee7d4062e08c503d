import * as z from 'zod';

export const receiveEnv = z.object({ DELIVERY_QUEUE_URL: z.string().min(1) });
