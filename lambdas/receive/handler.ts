/** Puts a delivery of CloudWatch into the queue as it came: from there it is stored, for as many tries as it takes. */
export function makeReceiveHandler(send: (body: string) => Promise<void>): (event: unknown) => Promise<null> {
  return async (event) => {
    await send(JSON.stringify(event));
    return null;
  };
}
