import { until } from '../../../program.js';
import type { Row } from '../../row.js';

const cuts = 50;

export const kafkaAcknowledgementsCut: Row = {
  name: 'kafka-acknowledgements-cut',
  title: `${cuts} acknowledgements of appends cut`,
  sets: ['cluster'],
  answers: 'the last one is cut',
  inject: async ({ kafka }) => {
    kafka.cutAcknowledgementsOf(cuts, 5);
    await until(
      () => (kafka.cutAcknowledgements >= cuts ? true : undefined),
      60_000,
      () => `only ${kafka.cutAcknowledgements} acknowledgements were cut`,
    );
  },
};
