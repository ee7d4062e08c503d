import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { limitsOf, UNNAMED_MODEL } from '../../core/model/capabilities.ts';
import type { Model } from '../../core/model/port.ts';

/** No model. The pipeline must not ask it; if it does, that is an error and never an empty answer. */
export const noneModel: Model = {
  spec: 'none',
  limits: limitsOf(UNNAMED_MODEL),
  async ask(request) {
    throw new ConfigurationInvalidError(
      `a model was asked (${request.purpose}) though the model is "none"; choose one with --model`,
    );
  },
};
