-- Readers compare versions to know whether the state that they have in memory is the current one.

alter table checkpoint add column version bigint not null default 0;
comment on column checkpoint.version is 'Grows with each change of this row, so that readers can compare the states of the index.';
